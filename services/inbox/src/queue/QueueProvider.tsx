import { createContext, type ReactNode, useContext } from 'react';
import { type ReviewListState, useReviewList } from './use-review-list.js';

const QueueContext = createContext<ReviewListState | null>(null);

/** What waits for a decision in the project: kept for the list, the tab's title, and the way from one review to the next. */
export function QueueProvider({ children }: { children: ReactNode }) {
  return <QueueContext.Provider value={useReviewList({ status: 'pending' })}>{children}</QueueContext.Provider>;
}

export function useQueue(): ReviewListState {
  const queue = useContext(QueueContext);
  if (queue === null) throw new Error('Only a screen of somebody who is signed in has a queue.');
  return queue;
}
