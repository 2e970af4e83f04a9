import { expect, it } from '@jest/globals';
import { servedServices } from './served.js';

function messageOf(text: string): string | undefined {
  return servedServices
    .safeParse(text)
    .error?.issues.map(({ message }) => message)
    .join('; ');
}

it('parses the services that the process serves', () => {
  expect(servedServices.parse('auction')).toEqual(['auction']);
  expect(servedServices.parse(' auction ')).toEqual(['auction']);
  expect(servedServices.parse('execution, auction')).toEqual(['execution', 'auction']);
});

it('lists the known services when an unknown one is named', () => {
  const has = 'it has: auction, execution, data';
  expect(messageOf('auction,chain')).toBe(`this release has no service chain; ${has}`);
  expect(messageOf('auctions')).toBe(`this release has no service auctions; ${has}`);
  expect(messageOf('auction,')).toBe(`this release has no service ; ${has}`);
});

it('refuses a service that is named twice', () => {
  expect(messageOf('auction,auction')).toBe('it must name each service once');
});
