import { runUnlessStopped } from '#libs/platform/process/early-stop.js';

await runUnlessStopped(process.env, () => import('./run.js'));
