import { plusMillis } from '#libs/base/instant.js';
import { keyOf } from '../tables.js';
import {
  changed,
  required,
  rowsFrom,
  rowsOf,
  type StatementAnswer,
  type Context,
  type Statements,
} from '../statement.js';

/** Before all events of a world. */
const ALWAYS = '1970-01-01 00:00:00';

export const FIRST_POLICY = { version: 1, protection: 1, contracts: 1, principals: 1, groups: 1 };

function policyParts({ tables, tx }: Context): StatementAnswer {
  const parts = tx.get(tables.policy, '') ?? FIRST_POLICY;
  return rowsOf([{ halts: 1, ...parts }]);
}

/** The economic policy and makers' protection. */
export const policyStatements: Statements = {
  'policy-version': { run: policyParts },
  'select version, contracts, principals': { run: policyParts },
  'select venue, contract_id, outcome, title': {
    run: ({ tables, tx }) => rowsOf([...tx.all(tables.contracts)].map(([, row]) => row)),
  },
  'select account_id, display_name': {
    run: ({ tables, tx }) => rowsOf([...tx.all(tables.principals)].map(([, row]) => row)),
  },
  'select halt_id': { run: () => rowsOf([]) },
  'select group_id': {
    run: ({ tables, tx }) => rowsOf([...tx.all(tables.groups)].map(([, row]) => row)),
  },
  'select account_id, (frozen_until': {
    run: ({ tables, tx }) =>
      rowsOf([...tx.all(tables.frozen)].map(([id, until]) => ({ account_id: id, until: utcText(until) }))),
  },
  freezes: {
    run: ({ tables, tx }, [makers]) =>
      rowsOf(
        (makers as readonly string[]).flatMap((maker) => {
          const until = tx.get(tables.frozen, maker);
          return until === undefined ? [] : [{ account_id: maker, until: utcText(until) }];
        }),
      ),
  },
  'select pg_advisory_xact_lock': {
    locks: ([maker]) => [keyOf('protection', String(maker))],
    run: () => rowsOf([{}]),
  },
  protection: {
    run: ({ tables, tx }, [makers]) =>
      rowsOf(
        (makers as readonly string[]).flatMap((maker) => {
          const row = tx.get(tables.protection, maker);
          return row === undefined ? [] : [{ account_id: maker, counts_from: ALWAYS, ...row }];
        }),
      ),
  },
  'insert into control.protection_awards': {
    run: ({ tables, tx }, columns) => {
      const fresh: { readonly at: string }[] = [];
      for (const [id, account, at, notional] of rowsFrom(...columns)) {
        if (tx.get(tables.counted, required(id)) !== undefined) continue;
        tx.put(tables.counted, required(id), {
          account_id: required(account),
          awarded_at: required(at),
          notional_atoms: Number(notional),
        });
        fresh.push({ at: utcText(required(at)) });
      }
      return rowsOf(fresh);
    },
  },
  'delete from control.protection_awards where account_id = $1 and awarded_at': {
    run: ({ tables, tx }, [maker, from]) => {
      for (const [id, row] of [...tx.all(tables.counted)]) {
        if (row.account_id === maker && row.awarded_at < String(from)) tx.put(tables.counted, id, undefined);
      }
      return changed(1);
    },
  },
  'protection-trip': {
    run: ({ tables, tx }, [maker, , , first, , window, most, notional]) => {
      const own = [...tx.all(tables.counted)].map(([, row]) => row).filter((row) => row.account_id === maker);
      const ends = own.map((row) => row.awarded_at).filter((end) => end >= String(first));
      const reaching = ends.filter((end) => {
        const start = plusMillis(end, -Number(window));
        const within = own.filter(({ awarded_at: at }) => at > start && at <= end);
        const sum = within.reduce((total, row) => total + row.notional_atoms, 0);
        return within.length >= Number(most) || sum >= Number(notional);
      });
      const last = reaching.sort().at(-1);
      return rowsOf([{ tripped: last === undefined ? null : utcText(last) }]);
    },
  },
  'insert into control.protection_state': {
    run: ({ tables, tx }, [maker, , until]) => {
      const known = tx.get(tables.frozen, String(maker)) ?? '';
      tx.put(tables.frozen, String(maker), known > String(until) ? known : String(until));
      tx.change(tables.policy, '', (policy = FIRST_POLICY) => ({
        ...policy,
        version: policy.version + 1,
        protection: policy.protection + 1,
      }));
      return changed(1);
    },
  },
};

/** As a timestamptz is printed in UTC. */
function utcText(instant: string): string {
  return `${instant.slice(0, 10)} ${instant.slice(11, 26)}`;
}
