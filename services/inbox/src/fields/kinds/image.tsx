import { useState } from 'react';
import { AskedFor } from '../../elements/AskedFor.js';
import { safePicture } from '../addresses.js';
import type { FieldView, ShowProps } from '../field-view.js';
import { MediumCaption } from '../MediumCaption.js';
import { LineInput } from '../text-input.js';

function ShowImage({ field, value }: ShowProps) {
  const address = safePicture(value);
  const [failed, setFailed] = useState<string | null>(null);
  const source = String(value);
  return (
    <figure className="media">
      {address === null || failed === address ? (
        <p className="media-missing">{address === null ? 'Only images from https URLs are shown.' : 'The image could not be loaded.'}</p>
      ) : (
        <AskedFor address={address} what="picture">
          <img src={address} alt={field.label} referrerPolicy="no-referrer" onError={() => setFailed(address)} />
        </AskedFor>
      )}
      <MediumCaption source={source} />
    </figure>
  );
}

export const image: FieldView = {
  Show: ShowImage,
  Edit: (props) => (
    <>
      {props.value ? <ShowImage field={props.field} value={props.value} /> : null}
      <LineInput {...props} inputMode="url" spellCheck={false} />
    </>
  ),
  bytes: true,
};
