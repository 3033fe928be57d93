import { createContext, type ReactNode, useContext, useRef } from 'react';
import { nowhere, type Place, PlaceContext } from './place.js';
import { type ReviewListState, useReviewList } from './use-review-list.js';

const QueueContext = createContext<ReviewListState | null>(null);

/** What waits for a decision in the project: kept for the list, the tab's title, and the way from one review to the next. */
export function QueueProvider({ children }: { children: ReactNode }) {
  const place = useRef<Place>(nowhere());
  return (
    <PlaceContext.Provider value={place}>
      <QueueContext.Provider value={useReviewList({ status: 'pending' })}>{children}</QueueContext.Provider>
    </PlaceContext.Provider>
  );
}

export function useQueue(): ReviewListState {
  const queue = useContext(QueueContext);
  if (queue === null) throw new Error('Only a screen of somebody who is signed in has a queue.');
  return queue;
}
