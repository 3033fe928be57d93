import type { TemplateAction } from '@countersign/contracts';
import { Revealed } from '../../../elements/Revealed.js';
import type { Settling } from '../../../elements/settling.js';
import { effectInWords } from '../../../review/action-effect.js';
import { actionOfKey } from '../../../review/action-order.js';

interface BarProps {
  actions: readonly TemplateAction[];
  /** Action under way. */
  busy: string | null;
  off: boolean;
  guard: Settling['guard'];
  onPress: (action: TemplateAction) => void;
}

const SHORTCUTS = ['a', 'r', 'c'];

/** The actions of the review, to be pressed. On small screens it stays in sight. */
export function ActionBar({ actions, busy, off, guard, onPress }: BarProps) {
  return (
    <div className="action-bar" {...guard}>
      {actions.map((action) => {
        const shortcut = SHORTCUTS.find((key) => actionOfKey(key, actions) === action);
        return (
          <button
            key={action.id}
            type="button"
            className={`button button-action ${styleOf(action)}`}
            disabled={off}
            title={action.description}
            aria-keyshortcuts={shortcut}
            onClick={() => onPress(action)}
          >
            {busy === action.id ? <span className="spinner" aria-hidden="true" /> : null}
            <span className="button-words">
              <Revealed text={action.label} /> <Effect action={action} />
            </span>
            {shortcut ? (
              <span className="button-key" aria-hidden="true">
                {shortcut}
              </span>
            ) : null}
          </button>
        );
      })}
    </div>
  );
}

/** What is recorded, where the label is a template's own and may say otherwise. */
function Effect({ action }: { action: TemplateAction }) {
  const words = effectInWords(action);
  return words === null ? null : <span className="button-effect">{words}</span>;
}

const STYLES: Record<NonNullable<TemplateAction['style']>, string> = {
  primary: 'button-primary',
  destructive: 'button-danger',
  warning: 'button-warning',
  secondary: '',
};

function styleOf(action: TemplateAction): string {
  if (action.style) return STYLES[action.style];
  if (action.decision_value === 'approved') return STYLES.primary;
  return action.decision_value === 'rejected' ? STYLES.destructive : STYLES.secondary;
}
