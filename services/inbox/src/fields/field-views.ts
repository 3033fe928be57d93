import type { FieldType } from '@countersign/contracts';
import { buttons } from './buttons.js';
import type { FieldView } from './field-view.js';
import { boolean } from './kinds/boolean.js';
import { date } from './kinds/date.js';
import { image } from './kinds/image.js';
import { json } from './kinds/json.js';
import { markdown } from './kinds/markdown.js';
import { number } from './kinds/number.js';
import { select } from './kinds/select.js';
import { text } from './kinds/text.js';
import { url } from './kinds/url.js';
import { video } from './kinds/video.js';

export const FIELD_VIEWS: Record<FieldType, FieldView> = {
  text,
  markdown,
  json,
  image,
  video,
  number,
  boolean,
  select,
  buttons,
  date,
  url,
};
