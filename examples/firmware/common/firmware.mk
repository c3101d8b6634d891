# How the samples are built: one object for each source, one image, the same bytes wherever the folder is.
# A sample's Makefile names its tests and includes this.
CC      := arm-none-eabi-gcc
COMMON  := ../common
SOURCES := $(wildcard src/*.c) $(wildcard tests/*.c)
SHARED  := $(wildcard $(COMMON)/*.c)
OBJECTS := $(SOURCES:%.c=build/%.o) $(SHARED:$(COMMON)/%.c=build/common/%.o)

CFLAGS  := -mcpu=cortex-m3 -mthumb -std=c11 -g -O1 -ffunction-sections -fdata-sections -Wall -Wextra \
           -ffile-prefix-map=$(CURDIR)=. -Isrc -I$(COMMON)
LDFLAGS := -mcpu=cortex-m3 -mthumb -nostartfiles --specs=nosys.specs --specs=nano.specs -T $(COMMON)/link.ld \
           -Wl,--gc-sections -Wl,--build-id=none

build/fw.elf: $(OBJECTS) $(COMMON)/link.ld
	$(CC) $(LDFLAGS) $(OBJECTS) -o $@

build/common/%.o: $(COMMON)/%.c Makefile $(COMMON)/firmware.mk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MMD -MP -c $< -o $@

build/%.o: %.c Makefile $(COMMON)/firmware.mk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MMD -MP -c $< -o $@

.PHONY: run clean
run: build/fw.elf
	qemu-system-arm -M mps2-an385 -display none -monitor none -serial stdio \
	    -semihosting-config enable=on,target=native -kernel $<

clean:
	rm -rf build

-include $(OBJECTS:.o=.d)
