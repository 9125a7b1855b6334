/**
 * A client of Satchel, long-term memory for language-model agents.
 *
 * <p>{@link dev.satchel.client.Satchel} opens the services at an address and hands out their
 * generated stubs; requests and responses are the messages of {@code dev.satchel.api}.
 */
package dev.satchel.client;
