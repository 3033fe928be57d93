import type { FieldType } from '@countersign/contracts';
import { boolean } from './boolean.js';
import { buttons } from './buttons.js';
import { date } from './date.js';
import type { FieldView } from './field-view.js';
import { image } from './image.js';
import { json } from './json.js';
import { markdown } from './markdown.js';
import { number } from './number.js';
import { select } from './select.js';
import { text } from './text.js';
import { url } from './url.js';
import { video } from './video.js';

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
