import { Dialog } from './Dialog.js';

const SHORTCUTS: [keys: string[], what: string][] = [
  [['j', '↓'], 'Next review in the list'],
  [['k', '↑'], 'Previous review in the list'],
  [['Enter'], 'Open the selected review'],
  [['j'], 'In a review: next open review'],
  [['k'], 'In a review: previous open review'],
  [['a'], 'Approve (asks for confirmation)'],
  [['r'], 'Reject (asks for confirmation)'],
  [['c'], 'Request changes (asks for confirmation)'],
  [['Ctrl', 'Enter'], 'Submit the action with your feedback'],
  [['Esc'], 'Leave the field, then return to the list'],
  [['?'], 'Show this help'],
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
      <p className="muted">Shortcuts work when no field is focused.</p>
      <div className="dialog-actions">
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
