import { observed } from '#libs/client/api-client.js';
import { recordClose, recordExchange, recordFrame } from './recorder.js';

/** Jest loads this before each end-to-end spec, so that what its clients say and hear is recorded. */
observed.by = { exchange: recordExchange, frame: recordFrame, closed: recordClose };
