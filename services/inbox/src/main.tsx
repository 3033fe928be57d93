import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './elements/elements.css';
import './styles/shell.css';
import './styles/prose.css';
import { createRoot } from 'react-dom/client';
import { App } from './App.js';

createRoot(document.getElementById('root') as HTMLElement).render(<App />);
