import { observed } from '#libs/client/api-client.js';
import { recordClose, recordExchange, recordFrame } from './recorder.js';

/** Jest loads this before each end-to-end spec, so that all exchanges and frames of its clients are recorded. */
observed.by = { exchange: recordExchange, frame: recordFrame, closed: recordClose };
