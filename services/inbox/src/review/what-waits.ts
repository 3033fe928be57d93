/** What is said of something newer that waits to be looked at, and of turning to it. */
import type { Review } from '@countersign/contracts';
import { isOpen } from './desk.js';

export interface WhatWaits {
  title: string;
  /** What stays on the page until then, and what to do. */
  stays: string;
  /** The same beside the buttons that are off. */
  panel: string;
  turn: string;
}

export function whatWaits(shown: Review, waiting: Review): WhatWaits {
  const { current_version: before } = shown;
  const { current_version: now } = waiting;
  if (now !== before) {
    const stays = `This is still version ${before}, which can no longer be decided.`;
    const turn = `Show version ${now}`;
    return isOpen(waiting)
      ? { title: `The agent has submitted version ${now}`, stays: `${stays} ${turn} to decide.`, panel: `${turn} to decide.`, turn }
      : { title: `The review was closed at version ${now}`, stays, panel: stays, turn };
  }
  const turn = 'Show the review as it is now';
  return { title: titleOf(shown, waiting), stays: 'This is the review as it was before.', panel: `${turn} to decide.`, turn };
}

function titleOf(shown: Review, waiting: Review): string {
  if (shown.status === waiting.status) return 'The review has changed';
  return waiting.status === 'awaiting_iteration' ? 'Changes were requested' : 'The request for changes was cancelled';
}
