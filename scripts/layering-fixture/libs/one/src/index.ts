import '@countersign/alpha'; // libs-know-no-services
import 'left-pad'; // resolvable
import '@nestjs/common'; // nest-at-the-edge, declared-dependencies
import 'kafkajs'; // kafka-behind-the-port
