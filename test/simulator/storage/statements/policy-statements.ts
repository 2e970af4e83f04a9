import { keyOf } from '../tables.js';
import {
  changed,
  required,
  rowsFrom,
  rowsOf,
  type Answer,
  type Context,
  type Statements,
} from '../statement.js';

export const FIRST_POLICY = { version: 1, protection: 1, contracts: 1, principals: 1, groups: 1 };

function policyParts({ tables, tx }: Context): Answer {
  const parts = tx.get(tables.policy, '') ?? FIRST_POLICY;
  return rowsOf([{ halts: 1, ...parts }]);
}

/** The economic policy, and makers' protection with it. */
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
          return row === undefined ? [] : [{ account_id: maker, ...row }];
        }),
      ),
  },
  'insert into control.protection_awards': {
    run: ({ tables, tx }, columns) => {
      for (const [id, account, at, notional] of rowsFrom(...columns)) {
        if (tx.get(tables.counted, required(id)) !== undefined) continue;
        tx.put(tables.counted, required(id), {
          account_id: required(account),
          awarded_at: required(at),
          notional_atoms: Number(notional),
        });
      }
      return changed(1);
    },
  },
  'delete from control.protection_awards where account_id = $1 and awarded_at': {
    run: ({ tables, tx }, [maker, from]) => {
      for (const [id, row] of [...tx.all(tables.counted)]) {
        if (row.account_id === maker && row.awarded_at <= String(from)) tx.put(tables.counted, id, undefined);
      }
      return changed(1);
    },
  },
  'select count(*) >= $2': {
    run: ({ tables, tx }, [maker, most, notional]) => {
      const own = [...tx.all(tables.counted)].map(([, row]) => row).filter((row) => row.account_id === maker);
      const sum = own.reduce((total, row) => total + row.notional_atoms, 0);
      return rowsOf([{ reached: own.length >= Number(most) || sum >= Number(notional) }]);
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
