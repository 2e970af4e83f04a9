export { stopAfterRun as default } from './postgres-setup.js';
