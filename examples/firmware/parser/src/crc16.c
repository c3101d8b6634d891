#include "crc16.h"

#define POLYNOMIAL 0x1021u

uint16_t crc16_add(uint16_t crc, uint8_t byte)
{
    crc ^= (uint16_t)(byte << 8);
    for (int bit = 0; bit < 8; bit++) {
        if (crc & 0x8000u) {
            crc = (uint16_t)((crc << 1) ^ POLYNOMIAL);
        } else {
            crc = (uint16_t)(crc << 1);
        }
    }
    return crc;
}

uint16_t crc16(const uint8_t *bytes, size_t count)
{
    uint16_t crc = CRC16_INIT;
    for (size_t i = 0; i < count; i++) {
        crc = crc16_add(crc, bytes[i]);
    }
    return crc;
}
