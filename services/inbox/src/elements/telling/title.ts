import { useEffect } from 'react';

const NAME = 'Countersign';

/** What the tab says. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === '' ? NAME : `${title} · ${NAME}`;
  }, [title]);
}
