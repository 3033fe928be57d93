import type { Me } from '@countersign/contracts';
import { createContext, useContext } from 'react';

export type ProjectOfMine = Me['projects'][number];

/** Who is signed in and what they work in. */
export interface Session {
  me: Me;
  project: ProjectOfMine;
  /** The session is gone; what is on the page stays until the person has signed in again. */
  ended: boolean;
  chooseProject: (id: string) => void;
  signOut: () => Promise<void>;
  /** Reads again who is signed in. */
  refresh: () => Promise<void>;
}

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('Only a screen of somebody who is signed in can ask who that is.');
  return session;
}
