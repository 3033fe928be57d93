import type { TemplateAction } from '@countersign/contracts';
import { Revealed } from '../../elements/Revealed.js';
import { actionOfKey } from '../../review/action-order.js';

interface BarProps {
  actions: readonly TemplateAction[];
  /** Action under way. */
  busy: string | null;
  off: boolean;
  onPress: (action: TemplateAction) => void;
}

const SHORTCUTS = ['a', 'r', 'c'];

/** The actions of the review, to be pressed. On small screens it stays in sight. */
export function ActionBar({ actions, busy, off, onPress }: BarProps) {
  return (
    <div className="action-bar">
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
            <Revealed text={action.label} />
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
