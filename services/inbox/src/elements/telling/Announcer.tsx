import { createContext, type ReactNode, useCallback, useContext, useState } from 'react';

const AnnounceContext = createContext<(text: string) => void>(() => {});

/** Says what came about, for those who do not see it come about. */
export function Announcer({ children }: { children: ReactNode }) {
  const [said, setSaid] = useState<{ text: string; turn: number }>({ text: '', turn: 0 });
  const announce = useCallback((text: string) => setSaid(({ turn }) => ({ text, turn: turn + 1 })), []);
  return (
    <AnnounceContext.Provider value={announce}>
      {children}
      <div className="visually-hidden" aria-live="polite" data-testid="announcer">
        <span key={said.turn}>{said.text}</span>
      </div>
    </AnnounceContext.Provider>
  );
}

export function useAnnounce(): (text: string) => void {
  return useContext(AnnounceContext);
}
