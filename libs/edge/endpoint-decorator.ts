import { namesIn, type BoundEndpoint, type Call, type CallOf, type EndpointSpec } from './endpoint.js';
import type { Reply } from './reply/reply.js';

interface Declared {
  readonly spec: EndpointSpec;
  invoke(instance: object, call: Call): Reply | Promise<Reply>;
}

/** The member of an injectable that holds endpoints bound without a decorator, for instance one per row of a table. */
export const BOUND: unique symbol = Symbol('bound endpoints');

const declared = new WeakMap<object, Declared[]>();

/** Makes a method of an injectable the handler of an endpoint: `@Endpoint(createAuction) create(call: CallOf<typeof createAuction>)`. */
export function Endpoint<S extends EndpointSpec>(spec: S) {
  return <H extends (call: CallOf<S>) => Reply | Promise<Reply>>(
    prototype: object,
    _name: string | symbol,
    descriptor: TypedPropertyDescriptor<H>,
  ): void => {
    const handler = descriptor.value;
    if (handler === undefined) throw new Error(`${spec.operationId}: only a method can handle an endpoint`);
    const entries = declared.get(prototype) ?? [];
    entries.push({ spec, invoke: (instance, call: CallOf<S>) => handler.call(instance, call) });
    declared.set(prototype, entries);
  };
}

/** All endpoints that these instances and their base classes declare. */
export function endpointsOf(instances: readonly object[]): BoundEndpoint[] {
  return instances.flatMap((instance) => [
    ...boundBy(instance),
    ...prototypesOf(instance).flatMap((prototype) =>
      (declared.get(prototype) ?? []).map((entry) => ({
        spec: entry.spec,
        idNames: namesIn(entry.spec.path),
        handle: (call: Call) => entry.invoke(instance, call),
      })),
    ),
  ]);
}

function boundBy(instance: object): readonly BoundEndpoint[] {
  return hasBound(instance) ? instance[BOUND] : [];
}

function hasBound(instance: object): instance is { readonly [BOUND]: readonly BoundEndpoint[] } {
  return BOUND in instance;
}

/** The endpoints that classes declare, without instances. */
export function endpointSpecsOf(classes: readonly { readonly prototype: object }[]): EndpointSpec[] {
  return classes.flatMap(({ prototype }) =>
    [prototype, ...prototypesOf(prototype)].flatMap((declaring) =>
      (declared.get(declaring) ?? []).map(({ spec }) => spec),
    ),
  );
}

function prototypesOf(instance: object): object[] {
  const chain: object[] = [];
  let prototype: unknown = Object.getPrototypeOf(instance);
  while (typeof prototype === 'object' && prototype !== null) {
    chain.push(prototype);
    prototype = Object.getPrototypeOf(prototype);
  }
  return chain;
}
