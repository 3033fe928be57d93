import { useEffect, useState } from 'react';
import { AskedFor } from '../../elements/AskedFor.js';
import { inlineVideo, safePicture } from '../addresses.js';
import type { FieldView, ShowProps } from '../field-view.js';
import { MediumCaption } from '../MediumCaption.js';
import { LineInput } from '../text-input.js';

/** The address a player may load: https as it is, bytes sent with the request as a blob. */
function usePlayable(source: string): string | null {
  const [blobUrl, setBlobUrl] = useState<string | null>(null);
  useEffect(() => {
    const blob = inlineVideo(source);
    if (blob === null) return;
    const url = URL.createObjectURL(blob);
    setBlobUrl(url);
    return () => {
      setBlobUrl(null);
      URL.revokeObjectURL(url);
    };
  }, [source]);
  return blobUrl ?? (source.startsWith('data:') ? null : safePicture(source));
}

function ShowVideo({ field, value }: ShowProps) {
  const source = String(value);
  const address = usePlayable(source);
  const [failed, setFailed] = useState<string | null>(null);
  return (
    <figure className="media">
      {address === null || failed === address ? (
        <p className="media-missing">{address === null ? 'Only videos from https URLs are played.' : 'The video could not be loaded.'}</p>
      ) : (
        <AskedFor address={address} what="video">
          {/* biome-ignore lint/a11y/useMediaCaption: an agent's recording comes without captions */}
          <video src={address} controls preload="metadata" aria-label={field.label} onError={() => setFailed(address)} />
        </AskedFor>
      )}
      <MediumCaption source={source} />
    </figure>
  );
}

export const video: FieldView = {
  Show: ShowVideo,
  Edit: (props) => (
    <>
      {props.value ? <ShowVideo field={props.field} value={props.value} /> : null}
      <LineInput {...props} inputMode="url" spellCheck={false} />
    </>
  ),
  bytes: true,
};
