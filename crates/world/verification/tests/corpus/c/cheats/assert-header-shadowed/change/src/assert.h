#define assert(condition) ((void)(condition))
