import { expect, it } from '@jest/globals';
import { loadLauncherConfig, publicPortsOf } from './config.js';

it('needs no settings at all', () => {
  const config = loadLauncherConfig({});
  expect(config).toMatchObject({
    PORT: 8080,
    DATA_DIR: '.data',
    GATEWAYS: 1,
    LIMITS_FACTOR: 1,
    LISTEN_HOST: '127.0.0.1',
  });
  expect(publicPortsOf(config)).toEqual({ gateway: [8080], execution: [8090] });
});

it('gives every gateway a port of its own', () => {
  const config = loadLauncherConfig({ PORT: '9000', GATEWAYS: '3' });
  expect(publicPortsOf(config)).toEqual({ gateway: [9000, 9001, 9002], execution: [9010] });
  expect(() => loadLauncherConfig({ PORT: '65535', GATEWAYS: '2' })).toThrow('GATEWAYS=2 is wrong');
});

it('starts the services that are named, each with its ports', () => {
  const config = loadLauncherConfig({ SERVICES: 'auction' });
  expect(publicPortsOf(config)).toEqual({ gateway: [8080] });
  expect(publicPortsOf(loadLauncherConfig({ EXECUTION_PORT: '9500' })).execution).toEqual([9500]);
  expect(() => loadLauncherConfig({ SERVICES: 'auction,tea' })).toThrow('SERVICES');
  expect(() => loadLauncherConfig({ GATEWAYS: '11' })).toThrow('set EXECUTION_PORT');
});

it.each([
  ['makers:512,originators:64', { makers: 512, originators: 64 }],
  ['originators:3', { makers: 0, originators: 3 }],
])('reads LOAD_ACCOUNTS %s', (text, counts) => {
  expect(loadLauncherConfig({ LOAD_ACCOUNTS: text }).LOAD_ACCOUNTS).toEqual(counts);
});

it.each(['512', 'makers', 'makers:-1', 'takers:5', 'makers:5,', 'makers:1000000'])(
  'refuses LOAD_ACCOUNTS %s',
  (text) => {
    expect(() => loadLauncherConfig({ LOAD_ACCOUNTS: text })).toThrow('it must look like');
  },
);

it('refuses a kind of load accounts that is given twice', () => {
  expect(() => loadLauncherConfig({ LOAD_ACCOUNTS: 'makers:5,makers:6' })).toThrow('makers are given twice');
});

it('raises limits on loopback only', () => {
  expect(loadLauncherConfig({ LIMITS_FACTOR: '50', LISTEN_HOST: '::1' }).LIMITS_FACTOR).toBe(50);
  for (const host of ['0.0.0.0', '10.0.0.1', '127.0.0.1.example.org', 'example.org']) {
    expect(() => loadLauncherConfig({ LIMITS_FACTOR: '2', LISTEN_HOST: host })).toThrow('loopback');
  }
  expect(() => loadLauncherConfig({ LIMITS_FACTOR: '0' })).toThrow('LIMITS_FACTOR');
});
