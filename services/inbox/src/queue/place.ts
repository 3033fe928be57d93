import { createContext, type RefObject, useContext } from 'react';

/** Where the person was last, so that the way back leads to where they came from. */
export interface Place {
  /** Address of the list they looked at. */
  list: string;
  /** Of the review they looked at, and of the one after it for when that has left the list. */
  reviews: string[];
  /** Whether any screen was shown before: the browser looks after the first. */
  begun: boolean;
}

export const nowhere = (): Place => ({ list: '/', reviews: [], begun: false });

export const PlaceContext = createContext<RefObject<Place>>({ current: nowhere() });

export function usePlace(): RefObject<Place> {
  return useContext(PlaceContext);
}
