import type { Me } from '@countersign/contracts';

const KEY = 'countersign.project';

/** The project to show: the one this browser showed last, where it is still the person's. */
export function chosenProject(me: Pick<Me, 'project_id' | 'projects'>): string {
  const remembered = readRemembered();
  return me.projects.some(({ id }) => id === remembered) ? (remembered as string) : me.project_id;
}

export function rememberProject(id: string): void {
  try {
    localStorage.setItem(KEY, id);
  } catch {
    // Storage may be switched off: then it is the first project each time.
  }
}

function readRemembered(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
