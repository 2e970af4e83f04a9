export type ProcessKind = 'owner' | 'gateway' | 'projector' | 'settler';
