import crypto from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { enterSandbox } from './sandbox.js';
import { Scheduler } from './scheduler.js';

describe('the sandbox of a simulation', () => {
  it('refuses real time and real randomness until it is left', () => {
    const leave = enterSandbox(new Scheduler(), () => 1);
    try {
      expect(() => process.hrtime.bigint()).toThrow('process.hrtime.bigint was called within a simulation');
      expect(() => process.hrtime()).toThrow('process.hrtime was called');
      expect(() => Date.now()).toThrow('Date.now was called');
      expect(() => Math.random()).toThrow('Math.random was called');
      expect(() => new Date()).toThrow('new Date was called');
      expect(() => Date()).toThrow('new Date was called');
      expect(() => performance.now()).toThrow('performance.now was called');
      expect(() => crypto.randomUUID()).toThrow('crypto.randomUUID was called');
      expect(new Date(0).toISOString()).toBe('1970-01-01T00:00:00.000Z');
      expect(() => setTimeout(() => undefined, 0)).toThrow('setTimeout was called');
    } finally {
      leave();
    }
    expect(process.hrtime.bigint()).toBeGreaterThan(0n);
    expect(Date.now()).toBeGreaterThan(0);
    expect(new Date().getTime()).toBeGreaterThan(0);
    expect(performance.now()).toBeGreaterThan(0);
    expect(crypto.randomUUID()).toHaveLength(36);
  });

  it('is not disturbed by timers that an earlier test file left in the same process', () => {
    const { hrtime: leftBehind } = process;
    const { performance: leftToo } = globalThis;
    const leave = enterSandbox(new Scheduler(), () => 1);
    try {
      expect(leftBehind.bigint()).toBeGreaterThan(0n);
      expect(leftToo.now()).toBeGreaterThan(0);
    } finally {
      leave();
    }
  });
});
