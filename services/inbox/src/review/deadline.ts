/** How long is left, in words; and how pressing that is. */
export type Pressure = 'calm' | 'soon' | 'last' | 'over';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function durationOf(ms: number): string {
  const rest = Math.max(0, ms);
  if (rest < MINUTE) return `${Math.floor(rest / 1000)} s`;
  if (rest < 10 * MINUTE) return `${Math.floor(rest / MINUTE)} min ${pad(Math.floor((rest % MINUTE) / 1000))} s`;
  if (rest < HOUR) return `${Math.floor(rest / MINUTE)} min`;
  if (rest < DAY) return `${Math.floor(rest / HOUR)} h ${pad(Math.floor((rest % HOUR) / MINUTE))} min`;
  const days = Math.floor(rest / DAY);
  const hours = Math.floor((rest % DAY) / HOUR);
  return days < 10 && hours > 0 ? `${days} d ${hours} h` : `${days} d`;
}

const pad = (count: number): string => String(count).padStart(2, '0');

/** @param now the server's time. */
export function pressureOf(deadline: string, now: number): Pressure {
  const left = Date.parse(deadline) - now;
  if (left <= 0) return 'over';
  if (left < 10 * MINUTE) return 'last';
  return left < 2 * HOUR ? 'soon' : 'calm';
}

/** Milliseconds until a countdown has to be drawn again. */
export function beatOf(deadline: string, now: number): number {
  const left = Date.parse(deadline) - now;
  if (left <= 10 * MINUTE) return 1_000;
  return left <= HOUR ? 15_000 : MINUTE;
}

/** What the clock does when nobody decides. */
export const LAPSE: Record<'auto_approve' | 'auto_reject' | 'expire', string> = {
  auto_approve: 'auto-approves',
  auto_reject: 'auto-rejects',
  expire: 'expires',
};

/** How long ago, roughly. */
export function agoOf(time: string, now: number): string {
  const past = now - Date.parse(time);
  if (past < MINUTE) return 'just now';
  if (past < HOUR) return `${Math.floor(past / MINUTE)} min ago`;
  if (past < DAY) return `${Math.floor(past / HOUR)} h ago`;
  const days = Math.floor(past / DAY);
  return days === 1 ? 'yesterday' : `${days} d ago`;
}

const CLOCK_TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const FULL_TIME = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
});

export function clockTimeOf(time: string | number): string {
  return CLOCK_TIME.format(new Date(time));
}

export function fullTimeOf(time: string): string {
  return FULL_TIME.format(Date.parse(time));
}
