import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/shell.css';
import './styles/prose.css';
import './elements/elements.css';
import './fields/fields.css';
import './screens/Inbox/inbox.css';
import './screens/Review/review.css';
import './screens/Review/deciding/panel.css';
import './screens/Review/outcome.css';
import { createRoot } from 'react-dom/client';
import { App } from './App.js';

createRoot(document.getElementById('root') as HTMLElement).render(<App />);
