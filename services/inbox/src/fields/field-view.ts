import type { TemplateField } from '@countersign/contracts';
import type { ReactNode } from 'react';
import type { Edit } from '../review/difference/edits.js';

export interface ShowProps {
  field: TemplateField;
  /** Neither undefined nor null. */
  value: unknown;
}

export interface EditProps {
  field: TemplateField;
  /** Of the edit where there is one, else of the payload. */
  value: unknown;
  /** As it was typed, where it was. */
  text: string | undefined;
  onChange: (edit: Edit) => void;
  /** For the label, and for what describes the field. */
  id: string;
  describedBy: string | undefined;
  invalid: boolean;
  disabled: boolean;
}

/** How values of one type are shown and edited. */
export interface FieldView {
  Show: (props: ShowProps) => ReactNode;
  Edit: (props: EditProps) => ReactNode;
  /** The editor is a group of controls, which is named rather than labelled. */
  group?: true;
  /** The value may be a file's bytes, in which nobody reads words. */
  bytes?: true;
}
