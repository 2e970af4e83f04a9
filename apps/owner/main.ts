import { runUnlessStopped } from '#libs/platform/early-stop.js';

await runUnlessStopped(process.env, () => import('./run.js'));
