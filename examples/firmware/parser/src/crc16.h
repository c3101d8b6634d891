/* CRC-16/CCITT-FALSE: polynomial 0x1021, starts at 0xffff, nothing reflected. */
#ifndef CRC16_H
#define CRC16_H

#include <stddef.h>
#include <stdint.h>

#define CRC16_INIT 0xffffu

uint16_t crc16_add(uint16_t crc, uint8_t byte);
uint16_t crc16(const uint8_t *bytes, size_t count);

#endif
