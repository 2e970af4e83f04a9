import { describe, expect, it } from '@jest/globals';
import { RevokedIds } from './revoked-ids.js';

describe('revoked ids', () => {
  it('are removed when their tokens have expired', () => {
    const revoked = new RevokedIds(10);
    revoked.add([
      { id: 'a', until: 100 },
      { id: 'b', until: 200 },
    ]);
    revoked.prune(100);
    expect([revoked.has('a'), revoked.has('b'), revoked.size]).toEqual([false, true, 1]);
  });

  it('added twice are counted once', () => {
    const revoked = new RevokedIds(1);
    revoked.add([{ id: 'a', until: 100 }]);
    revoked.add([{ id: 'a', until: 100 }]);
    expect([revoked.overflowed, revoked.has('a')]).toEqual([false, true]);
  });

  it('give no answer once there are too many', () => {
    const revoked = new RevokedIds(2);
    revoked.add(['a', 'b', 'c'].map((id) => ({ id, until: 100 })));
    expect([revoked.has('a'), revoked.has('z'), revoked.size]).toEqual([undefined, undefined, 0]);
  });

  it('give answers again after a recovery, with those added meanwhile', () => {
    const revoked = new RevokedIds(2);
    revoked.add(['a', 'b', 'c'].map((id) => ({ id, until: 100 })));
    revoked.add([{ id: 'd', until: 300 }]);
    revoked.recover([{ id: 'b', until: 200 }]);
    expect(['a', 'b', 'd'].map((id) => revoked.has(id))).toEqual([false, true, true]);
    revoked.recover(['e', 'f'].map((id) => ({ id, until: 100 })));
    expect(revoked.has('e')).toBeUndefined();
  });
});
