import './first.js';
