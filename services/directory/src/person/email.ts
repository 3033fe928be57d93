import { createHash } from 'node:crypto';

/** One person, one spelling: what makes two addresses the same. */
export const normalEmail = (email: string): string => email.trim().normalize('NFC').toLowerCase();

/** The key under which an address is reserved in the whole installation (K5): a hash, so that no list of reservations is a list of people. */
export const emailKey = (email: string): string => `person-email:${createHash('sha256').update(normalEmail(email)).digest('hex')}`;
