import { AskedFor, remoteHost } from '../elements/AskedFor.js';
import { Revealed } from '../elements/Revealed.js';
import { safePicture, sizeOf } from '../fields/addresses.js';
import { HostNote } from '../fields/HostNote.js';

interface PictureProps {
  /** Its address as it is written. */
  source: string;
  alt: string;
  title: string | undefined;
}

/** A picture with its words and its address. */
export function DrawnPicture({ source, alt, title }: PictureProps) {
  const address = safePicture(source);
  return (
    <span className="picture">
      {address === null ? (
        <span className="link-refused">Image not shown</span>
      ) : (
        <AskedFor address={address} what="picture">
          <img src={address} alt={alt} referrerPolicy="no-referrer" loading="lazy" />
        </AskedFor>
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
        {address !== null && remoteHost(address) === null ? sizeOf(source) : <Revealed text={source} />}
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
