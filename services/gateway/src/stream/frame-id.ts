/**
 * Where a reader is: the position of an event and which of its frames came last. Opaque to clients (decision 13): they send back what they got.
 */
export interface Place {
  position: number;
  index: number;
}

/** After every frame of an event. */
export const WHOLE_EVENT = 9;

export function frameId({ position, index }: Place): string {
  return Buffer.from(`${position.toString(36)}.${index}`, 'ascii').toString('base64url');
}

/** Null for a text that is no frame's id. */
export function placeOf(id: string): Place | null {
  const [, position, index] = /^([0-9a-z]{1,11})\.(\d)$/.exec(Buffer.from(id, 'base64url').toString('ascii')) ?? [];
  return position === undefined ? null : { position: Number.parseInt(position, 36), index: Number(index) };
}

export function isAfter(frame: Place, place: Place): boolean {
  return frame.position > place.position || (frame.position === place.position && frame.index > place.index);
}
