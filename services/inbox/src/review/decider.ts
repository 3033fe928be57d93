/** Who decided, in words for a person: the server names a rule of its own by `system:<why>`. */

interface Rule {
  /** After the name of a decision: approved … */
  brief: string;
  sentence: string;
}

const RULES: Readonly<Record<string, Rule>> = {
  'system:timeout': { brief: 'at the deadline', sentence: 'Automatic: the deadline passed' },
  'system:max_iterations': { brief: 'at the change-request limit', sentence: 'Automatic: change-request limit reached' },
  'system/auto-approve': { brief: 'by the template', sentence: 'Automatic: approved by the template' },
};
const OTHER: Rule = { brief: 'automatically', sentence: 'Automatic' };

/** The rule that decided; null where it was a person. */
export function ruleOf(decidedBy: string): Rule | null {
  if (Object.hasOwn(RULES, decidedBy)) return RULES[decidedBy] as Rule;
  return /^system[:/]/.test(decidedBy) ? OTHER : null;
}

/** By whom, after the name of a decision. */
export function byWhom(decidedBy: string, own: string): string {
  return ruleOf(decidedBy)?.brief ?? (decidedBy === own ? 'by you' : `by ${decidedBy}`);
}
