import { z } from 'zod';
import { SERVICE_NAMES, type ServiceName } from '#libs/platform/processes/catalogue.js';

const HAS = SERVICE_NAMES.join(', ');

/** A comma-separated list of services, each named once. */
export const servedServices: z.ZodType<readonly [ServiceName, ...ServiceName[]], string> = z
  .string()
  .transform((text, context): [ServiceName, ...ServiceName[]] => {
    const named = text.split(',').map((name) => name.trim());
    const served = named.flatMap((name) => SERVICE_NAMES.filter((known) => known === name));
    const unknown = named.filter((name) => !served.some((known) => known === name));
    const [first, ...others] = served;
    if (unknown.length > 0) {
      context.addIssue(`this release has no service ${unknown.join(', ')}; it has: ${HAS}`);
    } else if (new Set(served).size < served.length) context.addIssue('it must name each service once');
    return first === undefined ? z.NEVER : [first, ...others];
  });
