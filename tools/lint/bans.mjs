/**
 * Time, randomness and settings come through ports, so that the simulator can replace them and a journal
 * replays the same anywhere. Each message names the port to use.
 */
const CLOCK = 'Take the time from the Clock port of libs/platform/time/clock.ts';
const TIMER = 'Wait with Clock.after() or pause() of libs/platform/time/clock.ts';
const CHANCE = 'Take randomness through a port, or node:crypto where it must be a secret';
const SETTINGS =
  "Read the app's parsed configuration (libs/platform); only main.ts hands over the environment";

const TIMERS = ['setTimeout', 'setInterval'];

const defaultExport = {
  selector: 'ExportDefaultDeclaration',
  message: 'Export by name, so that a thing is called the same everywhere.',
};

const doubleCast = {
  selector: "TSAsExpression > TSAsExpression[typeAnnotation.type='TSUnknownKeyword']",
  message: 'A cast through unknown switches the compiler off: parse or narrow the value.',
};

export const houseSyntax = { 'no-restricted-syntax': ['error', defaultExport, doubleCast] };

export const noAmbientInputs = {
  'no-restricted-globals': ['error', ...TIMERS.map((name) => ({ name, message: `${TIMER}.` }))],
  'no-restricted-imports': [
    'error',
    {
      paths: [
        ...['node:timers', 'node:timers/promises', 'timers', 'timers/promises'].map((name) => ({
          name,
          message: `${TIMER}.`,
        })),
        { name: 'node:process', importNames: ['env', 'default'], message: `${SETTINGS}.` },
        { name: 'node:perf_hooks', importNames: ['performance'], message: `${CLOCK}: monotonicNanos().` },
      ],
    },
  ],
  'no-restricted-properties': [
    'error',
    { object: 'Date', property: 'now', message: `${CLOCK}: epochNanos().` },
    { object: 'Math', property: 'random', message: `${CHANCE}.` },
    { object: 'performance', property: 'now', message: `${CLOCK}: monotonicNanos().` },
    { object: 'process', property: 'hrtime', message: `${CLOCK}: monotonicNanos().` },
    { object: 'process', property: 'env', message: `${SETTINGS}.` },
    ...TIMERS.map((property) => ({ object: 'globalThis', property, message: `${TIMER}.` })),
  ],
  'no-restricted-syntax': [
    'error',
    defaultExport,
    doubleCast,
    { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: `${CLOCK}: epochNanos().` },
    { selector: "CallExpression[callee.name='Date']", message: `${CLOCK}: epochNanos().` },
  ],
};
