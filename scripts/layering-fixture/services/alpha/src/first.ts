import './second.js'; // no-cycles
