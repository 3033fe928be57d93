/** What is said of something newer that waits to be looked at, and of turning to it. */
import type { Review } from '@countersign/contracts';
import { isOpen } from './desk.js';

export interface WhatWaits {
  title: string;
  /** What stays on the page until then. */
  stays: string;
  turn: string;
}

export function whatWaits(shown: Review, waiting: Review): WhatWaits {
  const { current_version: before } = shown;
  const { current_version: now } = waiting;
  if (now !== before) {
    return {
      title: isOpen(waiting) ? `The agent has submitted version ${now}` : `The review was closed at version ${now}`,
      stays: `This is still version ${before}, which can no longer be decided.`,
      turn: `Show version ${now}`,
    };
  }
  return { title: titleOf(shown, waiting), stays: 'This is the review as it was before.', turn: 'Show the review as it is now' };
}

function titleOf(shown: Review, waiting: Review): string {
  if (shown.status === waiting.status) return 'The review has changed';
  return waiting.status === 'awaiting_iteration' ? 'Changes were requested' : 'The request for changes was cancelled';
}
