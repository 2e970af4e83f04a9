/**
 * Plants one bug after another in a copy of the tree and lets the campaign of faults, or the fuzz run, look for it:
 * `npm run faults:mutants -- [name ...]`. A bug of which nothing is found, or something else, fails the run. Each takes a minute or two, with
 * real processes, so this is for whoever changes what looks for faults, and no part of CI.
 */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = join(import.meta.dirname, '../../..');
/** A kill now and then is enough for most: it is what is checked that has to find them. */
const CAMPAIGN = 'test/faults/main.js --seed 5 --store postgres --open-auctions 0 --minutes 0.5';
const CALM = `${CAMPAIGN} --only kill:gateway`;
const FUZZ = 'test/fuzz/main.js --seed 5 --requests 4000';

/** By bug: what looks for it, and with which promise, or one of which, it has to be found. */
const MUTANTS = {
  'answers-before-the-journal': [
    `${CAMPAIGN.replace('0.5', '1.5')} --only kill:owner,kill:postgres,cut:owner-postgres,refuse:owner-postgres`,
    // What was lost and is said again is done anew: which of the two is seen is up to whether anybody does.
    'acknowledged means present exactly once|what was made is made once',
  ],
  'a-trade-takes-more': [CALM, 'the ledger to the atom'],
  'auctions-close-late': [CALM, 'everything is over at its time'],
  'desk-grants-anything': [CALM, 'nothing is promised twice'],
  'makers-see-rivals': [CALM, 'nothing leaks'],
  // Gateways that are killed begin anew, and with it the while after which they begin no stream.
  'one-gateway-begins-no-stream': [`${CAMPAIGN} --only kill:owner`, 'everything comes back'],
  'one-gateway-carries-no-commands': [CALM, 'everything comes back'],
  'one-gateway-knows-nothing-that-is-over': [CALM, 'at rest everything is read'],
  'projector-drops-events': [CALM, 'at rest everything is read'],
  'repeat-says-created': [CALM, 'a repeat is told that it is one'],
  'nobody-goes-on': [CALM, 'streams are taken up again'],
  'spent-means-stay-promised': [CALM, 'evidence says what there is'],
  'stream-has-holes': [CALM, 'streams tell what happened'],
  'strangers-see-what-is-over': [CALM, 'strangers see nothing'],
  'the-rich-are-refused': [CALM, 'refusals are founded'],
  'the-leader-alone-says-so': [
    `${CAMPAIGN.replace('postgres', 'kafka').replace('0.5', '2')} --only kill:broker-unheard`,
    'acknowledged means present exactly once|what was made is made once|streams are complete',
  ],
  'undocumented-code': [CALM, 'documented codes only'],
  'withdrawn-stays-reserved': [CALM, 'reservations to the atom'],
  'a-refusal-moves-the-price': [FUZZ, 'what stands is told otherwise although all was refused'],
  'forged-refresh-ends-the-gateway': [FUZZ, 'crash: gateway'],
  'quotes-have-one-page': [FUZZ, '500 internal_error'],
  'refusals-go-unsaid': [FUZZ, 'a stream goes on without an answer'],
  'bad-handshake-ends-the-gateway': [FUZZ, 'crash: gateway'],
  'tunnel-ends-the-gateway': [FUZZ, 'crash: gateway'],
  'contracts-ask-for-anything': [FUZZ, '500 internal_error'],
  'one-bad-create-stops-all': [FUZZ, '503 though nothing is away, and again when asked alone: createAuction'],
  'refusal-takes-a-quote-away': [FUZZ, 'QUOTE_EXPIRED was journaled although all was refused'],
  'tags-without-quotes-are-faults': [FUZZ, 'hung up on, and again when asked alone'],
  'halts-need-a-target': [FUZZ, '500 internal_error'],
  'gateway-hangs-up': [FUZZ, 'hung up on, and again when asked alone'],
  'refused-and-done': [FUZZ, 'something changed although all was refused'],
  'signatures-are-not-looked-at': [FUZZ, 'a stranger is let in'],
  'anybody-goes-on': [FUZZ, 'a stream is resumed by a token that is not its own'],
  'anybody-withdraws': [FUZZ, 'a stranger is let in: withdrawQuote|quote.withdraw of somebody else'],
  'streams-change-hands': [FUZZ, 'auth.refresh with a token that its account was not given'],
  'logout-ends-nothing': [FUZZ, 'a stranger is let in: getMe behind logout'],
  'keys-are-read-in-all-ways': [FUZZ, 'a complete request has no answer|: no answer in'],
  'hosts-are-read-in-all-ways': [FUZZ, 'a complete request has no answer|: no answer in'],
  'slow-for-long-queries': [FUZZ, 'slower than 1000 ms'],
};

const { positionals } = parseArgs({ allowPositionals: true });
const unknown = positionals.filter((name) => !(name in MUTANTS));
if (unknown.length > 0) throw new Error(`there is no mutant ${unknown.join(', ')}`);
const wanted = positionals.length > 0 ? positionals : Object.keys(MUTANTS);

/** A tree that is built and runs like this one, and has the bug. */
function spoiltTree(name) {
  const copy = mkdtempSync(join(tmpdir(), 'sotto-faults-mutants-'));
  const { stdout } = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  for (const path of stdout.split('\0').filter((each) => each !== '' && existsSync(join(ROOT, each))))
    cpSync(join(ROOT, path), join(copy, path));
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  mustDo(copy, 'git', 'apply', join(import.meta.dirname, `${name}.patch`));
  mustDo(copy, process.execPath, 'tools/build.mjs');
  return copy;
}

function mustDo(cwd, program, ...args) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stdout}${stderr}`);
}

/** Whether the bug is found, and all that was said. */
async function search(copy, [call, promise]) {
  const [program, ...args] = call.split(' ');
  const child = spawn(process.execPath, [join('dist', program), ...args], {
    cwd: copy,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  const code = await new Promise((resolve) => child.on('close', resolve));
  const logs = /^logs: (.+)\/logs$/m.exec(output)?.[1];
  if (logs !== undefined) rmSync(logs, { recursive: true, force: true });
  const violations = output.match(/^VIOLATION .*$/gm) ?? [];
  const promises = promise.split('|').map((one) => `VIOLATION ${one}`);
  const found = violations.find((line) => promises.some((one) => line.startsWith(one)));
  return { isFound: code === 1 && found !== undefined, found, violations, output };
}

const missed = [];
for (const name of wanted) {
  const began = performance.now();
  const copy = spoiltTree(name);
  try {
    const { isFound, found, violations, output } = await search(copy, MUTANTS[name]);
    if (!isFound) missed.push(name);
    const others = violations.length > 0 ? violations.join('\n') : output.split('\n').slice(-4).join('\n');
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    console.log(`${name} (${seconds} s): ${isFound ? found.slice(0, 160) : `NOT FOUND, but\n${others}`}`);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
console.log(`${String(wanted.length - missed.length)} of ${String(wanted.length)} planted bugs found`);
process.exitCode = missed.length > 0 ? 1 : 0;
