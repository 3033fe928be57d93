import { useState } from 'react';
import { Revealed } from '../elements/Revealed.js';
import { safePicture, sizeOf } from '../fields/addresses.js';
import { HostNote } from '../fields/HostNote.js';

interface PictureProps {
  /** Its address as it is written. */
  source: string;
  alt: string;
  title: string | undefined;
}

/** A picture with its words and its address. One from elsewhere tells its host who looks, and when; so it waits to be asked for. */
export function DrawnPicture({ source, alt, title }: PictureProps) {
  const address = safePicture(source);
  const remote = URL.parse(source)?.protocol === 'https:';
  const [wanted, setWanted] = useState(!remote);
  return (
    <span className="picture">
      {address === null ? (
        <span className="link-refused">Image not shown</span>
      ) : wanted ? (
        <img src={address} alt={alt} referrerPolicy="no-referrer" loading="lazy" />
      ) : (
        <button type="button" className="button" onClick={() => setWanted(true)}>
          Show the picture from {URL.parse(source)?.host}
        </button>
      )}
      <span className="link-target">
        {alt === '' ? null : (
          <>
            {' “'}
            <Revealed text={alt} />
            {'”'}
          </>
        )}
        {' ('}
        {address !== null && !remote ? sizeOf(source) : <Revealed text={source} />}
        {')'}
        {title ? (
          <>
            {' “'}
            <Revealed text={title} />
            {'”'}
          </>
        ) : null}
      </span>
      <HostNote address={source} />
    </span>
  );
}
