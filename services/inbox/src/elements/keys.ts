import { useEffect, useRef } from 'react';

/** Whether keys are being typed into something, so that none of them is a command. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.closest('input, textarea, select, [role="textbox"]') !== null;
}

/** Keys that may be held down. */
const MOVES = /^([jk]|Arrow.+)$/;

/** Commands of one key on a screen, by its name in lower case: not while typing, which Escape ends, not with a modifier, not behind a dialog. */
export function useKeys(commands: Record<string, (() => void) | undefined>): void {
  const latest = useRef(commands);
  latest.current = commands;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.repeat && !MOVES.test(event.key)) return;
      if (document.querySelector('dialog[open]') !== null) return;
      if (isTyping(event.target)) {
        if (event.key === 'Escape') (event.target as HTMLElement).blur();
        return;
      }
      const name = event.key.toLowerCase();
      const command = Object.hasOwn(latest.current, name) ? latest.current[name] : undefined;
      if (!command) return;
      event.preventDefault();
      command();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
