import { faultsOfAnswers } from './answers.js';
import { faultsOfAudiences } from './audiences.js';
import type { Fault, History } from './history.js';
import { faultsOfLog } from './log.js';

/** Everything that is wrong with what was recorded; judged afterwards, from the record alone. */
export function judge(history: History): Fault[] {
  return [...faultsOfLog(history), ...faultsOfAnswers(history), ...faultsOfAudiences(history)];
}

export const sentence = ({ kind, what }: Fault): string => `${kind}: ${what}`;
