/** Injection tokens for things without a class of their own. */
export const DATABASE = Symbol('database');
/** The database pool for reads of projections, with sessions of its own. */
export const PROJECTIONS = Symbol('projections');
export const ACCOUNT_SETTINGS = Symbol('account settings');
export const NEW_ID = Symbol('new id');
export const CLOCK = Symbol('clock');
/** The declarations of every endpoint that this process serves. */
export const INTERFACE = Symbol('interface');

/** The journals, on either storage backend. */
export const JOURNAL = Symbol('journal');
