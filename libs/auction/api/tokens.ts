/** Names under which things without a class of their own are injected. */
export const DATABASE = Symbol('database');
/** The database for who reads projections: on other sessions. */
export const PROJECTIONS = Symbol('projections');
export const ACCOUNT_SETTINGS = Symbol('account settings');
export const NEW_ID = Symbol('new id');
export const CLOCK = Symbol('clock');
/** The declarations of every endpoint that this process serves. */
export const INTERFACE = Symbol('interface');

/** The journals, wherever they are kept. */
export const JOURNAL = Symbol('journal');
