import { Dialog } from './Dialog.js';

const SHORTCUTS: [keys: string[], what: string][] = [
  [['j', '↓'], 'Next review in the list'],
  [['k', '↑'], 'Previous review in the list'],
  [['Enter'], 'Open the chosen review'],
  [['j'], 'On a review: the next one that waits'],
  [['k'], 'On a review: the one before'],
  [['a'], 'Approve: asks first'],
  [['r'], 'Reject'],
  [['c'], 'Request changes'],
  [['Ctrl', 'Enter'], 'Send the action you have written feedback for'],
  [['Esc'], 'Leave a field; then back to the list'],
  [['?'], 'This help'],
];

export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className="shortcuts">
        {SHORTCUTS.map(([keys, what]) => (
          <div key={what} className="shortcut">
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p className="muted">They work while no field has the focus.</p>
      <div className="dialog-actions">
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
