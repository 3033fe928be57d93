import '../../../libs/one/src/inside.js'; // packages-by-their-door
