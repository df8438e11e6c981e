/*
 * Copyright the DSTL authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

package dev.dstl.changelog.differential.schema;

import dev.dstl.changelog.fixture.VersionedStringSerializer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.typeutils.GenericTypeInfo;
import org.apache.flink.formats.avro.typeutils.GenericRecordAvroTypeInfo;

/**
 * A family of serializers. From one generation of the job to the next, serializers stay the same,
 * are reconfigured, are migrated or become incompatible. Thread-safe.
 */
public enum TypeFamily {
    /** Never changes. */
    LONG {
        @Override
        TypeInformation<?> type(int generation) {
            return Types.LONG;
        }

        @Override
        public Object value(int generation, int number) {
            return (long) number;
        }
    },
    /**
     * Never changes. Equal by its number, but each object has other bytes, so only for delegates
     * that compare objects.
     */
    ENTITY {
        @Override
        TypeInformation<?> type(int generation) {
            return Types.POJO(Entity.class);
        }

        @Override
        public Object value(int generation, int number) {
            return Entity.of(number);
        }
    },
    /** Never changes. */
    STRING {
        @Override
        TypeInformation<?> type(int generation) {
            return Types.STRING;
        }

        @Override
        public Object value(int generation, int number) {
            return "s" + number;
        }
    },
    /** Migrates to later versions and refuses earlier ones; some strings cannot be written. */
    VERSIONED {
        @Override
        TypeInformation<?> type(int generation) {
            return Types.STRING;
        }

        @Override
        @SuppressWarnings({"unchecked", "rawtypes"}) // Of strings, as the values are.
        public TypeSerializer<Object> serializer(int generation) {
            return (TypeSerializer) new VersionedStringSerializer(1 + generation);
        }

        @Override
        public Object value(int generation, int number) {
            return "v" + number;
        }
    },
    /** Reconfigured when it has encountered a subclass; gains and loses fields. */
    POJO {
        @Override
        TypeInformation<?> type(int generation) {
            return Types.POJO(JobClasses.of(generation).type("Account"));
        }

        @Override
        SerializerConfigImpl config(int generation) {
            SerializerConfigImpl config = new SerializerConfigImpl();
            if (generation == 1) {
                config.registerPojoType(JobClasses.of(generation).type("Special"));
            }
            return config;
        }

        @Override
        public Object value(int generation, int number) {
            return JobClasses.of(generation).make("Account", number);
        }
    },
    /** Gains and loses fields. */
    POJO_WITHOUT_SUBCLASSES {
        @Override
        TypeInformation<?> type(int generation) {
            return Types.POJO(JobClasses.of(generation).type("Order"));
        }

        @Override
        public Object value(int generation, int number) {
            return JobClasses.of(generation).make("Order", number);
        }
    },
    /**
     * Gains constants, also before others, which reconfigures it; loses some in the last
     * generation.
     */
    ENUM {
        @Override
        TypeInformation<?> type(int generation) {
            return TypeInformation.of(JobClasses.of(generation).type("Color"));
        }

        @Override
        public Object value(int generation, int number) {
            return JobClasses.of(generation).make("Color", number);
        }
    },
    /** Registers other classes in each generation, in another order. */
    KRYO {
        @Override
        TypeInformation<?> type(int generation) {
            return new GenericTypeInfo<>(JobClasses.of(generation).type("Opaque"));
        }

        @Override
        SerializerConfigImpl config(int generation) {
            SerializerConfigImpl config = new SerializerConfigImpl();
            if (generation > 1) {
                config.registerKryoType(JobClasses.of(generation).type("Inner"));
            }
            if (generation > 0) {
                config.registerKryoType(JobClasses.of(generation).type("Opaque"));
            }
            return config;
        }

        @Override
        public Object value(int generation, int number) {
            return JobClasses.of(generation).make("Opaque", number);
        }
    },
    /**
     * Reconfigures itself, but always writes the same bytes. RocksDB finds a state by the bytes of
     * its key, and Flink takes it that a serializer that is compatible writes the same ones; Kryo
     * writes a class by its name until it is registered, and Flink's RocksDB then loses the state.
     */
    KRYO_OF_STABLE_BYTES {
        @Override
        TypeInformation<?> type(int generation) {
            return KRYO.type(generation);
        }

        @Override
        SerializerConfigImpl config(int generation) {
            SerializerConfigImpl config = new SerializerConfigImpl();
            config.registerKryoType(JobClasses.of(generation).type("Opaque"));
            if (generation > 0) {
                config.registerKryoType(JobClasses.of(generation).type("Inner"));
            }
            return config;
        }

        @Override
        public Object value(int generation, int number) {
            int hasNoInner = 2 * number + 1;
            return KRYO.value(generation, hasNoInner);
        }
    },
    /** Gains fields with a default, in the last generation one without. */
    AVRO {
        @Override
        TypeInformation<?> type(int generation) {
            return new GenericRecordAvroTypeInfo(SCHEMAS[generation]);
        }

        @Override
        public Object value(int generation, int number) {
            GenericData.Record record = new GenericData.Record(SCHEMAS[generation]);
            for (Schema.Field field : SCHEMAS[generation].getFields()) {
                record.put(
                        field.pos(),
                        field.schema().getType() == Schema.Type.INT
                                ? (Object) number
                                : new org.apache.avro.util.Utf8(field.name() + number));
            }
            return record;
        }

        /** On the heap Flink keeps records as they were written. */
        @Override
        public String text(int generation, Object value) {
            GenericData.Record resolved = new GenericData.Record(SCHEMAS[generation]);
            for (Schema.Field field : SCHEMAS[generation].getFields()) {
                resolved.put(
                        field.pos(),
                        ((GenericData.Record) value).hasField(field.name())
                                ? ((GenericData.Record) value).get(field.name())
                                : field.defaultVal());
            }
            return resolved.toString();
        }
    },
    /** Contains other types. */
    TUPLE {
        @Override
        TypeInformation<?> type(int generation) {
            return Types.TUPLE(ENUM.type(generation), POJO.type(generation));
        }

        @Override
        public Object value(int generation, int number) {
            return Tuple2.of(ENUM.value(generation, number), POJO.value(generation, number));
        }
    };

    private static final Schema[] SCHEMAS = {
        SchemaBuilder.record("Entry").fields().requiredInt("number").endRecord(),
        SchemaBuilder.record("Entry")
                .fields()
                .requiredInt("number")
                .name("name")
                .type()
                .stringType()
                .stringDefault("none")
                .endRecord(),
        SchemaBuilder.record("Entry")
                .fields()
                .name("year")
                .type()
                .intType()
                .intDefault(2026)
                .name("name")
                .type()
                .stringType()
                .stringDefault("none")
                .requiredInt("number")
                .endRecord(),
        SchemaBuilder.record("Entry").fields().requiredInt("other").endRecord()
    };

    private static final Map<String, TypeInformation<?>> TYPES = new ConcurrentHashMap<>();

    abstract TypeInformation<?> type(int generation);

    SerializerConfigImpl config(int generation) {
        return new SerializerConfigImpl();
    }

    /** Creates the serializer of a generation. */
    @SuppressWarnings("unchecked") // The values are of the type.
    public TypeSerializer<Object> serializer(int generation) {
        return (TypeSerializer<Object>)
                TYPES.computeIfAbsent(name() + generation, missing -> type(generation))
                        .createSerializer(config(generation));
    }

    /** Returns the value for a number, at least 0. */
    public abstract Object value(int generation, int number);

    /** Returns the family for keys and namespaces that a delegate looks up by their bytes. */
    public TypeFamily ofStableBytes() {
        return this == KRYO ? KRYO_OF_STABLE_BYTES : ofEqualBytes();
    }

    /** Returns the family for keys of which a delegate may compare bytes of the same generation. */
    public TypeFamily ofEqualBytes() {
        return this == ENTITY ? LONG : this;
    }

    /**
     * Those that change, and some earlier generation can read again, so that a job can be
     * downgraded.
     */
    public static TypeFamily[] reversible() {
        return new TypeFamily[] {POJO, POJO_WITHOUT_SUBCLASSES, KRYO, AVRO};
    }

    /** Whether later generations write it differently. */
    public boolean changes() {
        return this != LONG && this != STRING && this != ENTITY;
    }

    /** Returns a value as a job of a generation sees it. */
    public String text(int generation, Object value) {
        return value.toString();
    }

    /** Whether serializers encounter subclasses. */
    public boolean hasSubclasses() {
        return this == POJO || this == TUPLE;
    }

    /** Whether some values cannot be serialized. */
    public boolean canFail() {
        return this == VERSIONED;
    }

    /** Returns a value that cannot be serialized; only if {@link #canFail()}. */
    public Object badValue(int number) {
        return VersionedStringSerializer.BAD + number;
    }
}
